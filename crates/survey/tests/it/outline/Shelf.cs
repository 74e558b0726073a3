using System;

namespace Shelves
{
    /// <summary>A jar.</summary>
    [Serializable]
    public record Jar(string Label);

    public interface IHold
    {
        bool Hold(Jar jar);
    }

    public class Shelf : IHold
    {
        public int Room { get; set; } = 12;

        public Shelf(int room)
        {
            Room = room;
        }

        public bool Hold(Jar jar) => true;
    }

    struct Row { }

    enum Lid { Tin, Cork }
}
