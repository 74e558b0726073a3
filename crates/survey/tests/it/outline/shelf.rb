# A shelf of jars.
module Shelves
  ROOM = 12

  # A jar.
  class Jar < Struct.new(:label)
    def self.of(label)
      new(label)
    end

    def long?
      count = label.size
      count > 3
    end
  end
end

def open(jar)
  jar
end
